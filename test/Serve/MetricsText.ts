/** Reads the Prometheus text format strictly: whatever a scraper would refuse is an error here. */

export interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ReadFamily {
  readonly type: string
  readonly help: string
  readonly samples: ReadonlyArray<ReadSample>
}

const sampleLine = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|NaN|[+-]Inf)$/
const labelPair = /([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?=[a-z])|$)/y

const labelsOf = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  labelPair.lastIndex = 0
  while (labelPair.lastIndex < text.length) {
    const found = labelPair.exec(text)
    const [, name = "", value = ""] = found ?? []
    if (found === null || name in labels) throw new Error(`not a set of labels: ${text}`)
    labels[name] = value
  }
  return labels
}

const suffixes: Readonly<Record<string, ReadonlyArray<string>>> = {
  gauge: [""],
  counter: [""],
  histogram: ["_bucket", "_sum", "_count"],
}

/** Families by name; each has HELP, then TYPE, then its samples, once. */
export const readMetrics = (text: string): ReadonlyMap<string, ReadFamily> => {
  if (!text.endsWith("\n")) throw new Error("the last line does not end")
  const families = new Map<string, { type: string; help: string; samples: Array<ReadSample> }>()
  const seen = new Set<string>()
  let current = ""
  for (const line of text.slice(0, -1).split("\n")) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/.exec(line) ?? []
    const family = families.get(current)
    if (word === "HELP") {
      if (families.has(name)) throw new Error(`${name} is there twice`)
      families.set(name, { type: "", help: rest, samples: [] })
      current = name
    } else if (word === "TYPE") {
      if (family === undefined || name !== current || family.type !== "" || !(rest in suffixes))
        throw new Error(`a TYPE out of place: ${line}`)
      family.type = rest
    } else {
      const [, sample = "", labels = "", value = ""] = sampleLine.exec(line) ?? []
      const suffix = sample.slice(current.length)
      if (!sample.startsWith(current) || !suffixes[family?.type ?? ""]?.includes(suffix))
        throw new Error(`a sample out of place: ${line}`)
      const key = line.slice(0, line.lastIndexOf(" "))
      if (seen.has(key)) throw new Error(`${key} is there twice`)
      seen.add(key)
      family?.samples.push({
        name: sample,
        labels: labelsOf(labels),
        value: Number(value.replace("Inf", "Infinity")),
      })
    }
  }
  return families
}
