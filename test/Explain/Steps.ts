import { Layer } from "effect"
import type { Step } from "../../src/Explain/Step.ts"
import { Explain } from "../../src/Explain.ts"
import { services } from "../Reconcile/Books.ts"

export const explaining = Explain.Default.pipe(Layer.provideMerge(services))

export const titles = (steps: ReadonlyArray<Step>) => steps.map(({ title }) => title)

/** The values of a label in the steps whose titles begin so. */
export const fact = (steps: ReadonlyArray<Step>, title: string, label: string) =>
  steps
    .filter((step) => step.title.startsWith(title))
    .flatMap(({ facts }) => facts.filter(([name]) => name === label).map(([, value]) => value))
