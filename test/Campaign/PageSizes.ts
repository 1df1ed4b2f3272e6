/**
 * Where cursors are numbers of pages, the service of some histories changes how many rows a page has: a number leads elsewhere then.
 * Drawn from a random sequence of its own, so that the rest of the history is unaffected.
 */
import type { History, Step } from "./History.ts"
import { random } from "./Random.ts"

export const withPageSizes = (history: History): History => {
  const chance = random(`${history.seed} pages`)
  if (!history.settings.numberedPages || !chance.chance(0.6)) return history
  const steps: Array<Step> = [...history.steps]
  for (let changes = chance.whole(1, 3); changes > 0; changes--) {
    const place = chance.whole(0, steps.length)
    const at = steps[place]?.at ?? history.end
    steps.splice(place, 0, { at, event: { what: "pages", rows: chance.pick([1, 2, 3, 4, 6, 10]) } })
  }
  return { ...history, steps }
}
