/** Proposes a profile from a service's live answers. Only reads. */
import { Effect, Either } from "effect"
import type { Interface } from "../Settings/Interface.ts"
import type { Ask } from "./Ask.ts"
import type { Surface } from "./Endpoints.ts"
import * as Parameters from "./Parameters.ts"
import * as Propose from "./Propose.ts"
import * as Shape from "./Shape.ts"
import { type Survey, surveyAll } from "./Survey.ts"

/** The Money objects of the lists, or else of single resources that statement entries name. */
const moneys = Effect.fn("Doctor.moneys")(function* (ask: Ask, { resources, samples }: Survey) {
  const listed = samples.flatMap(({ rows }) => Shape.moneys(rows))
  if (listed.length > 0) return listed
  const found = []
  for (const { endpoint, path } of resources) {
    const answer = yield* ask(endpoint.key, path)
    if (Either.isRight(answer)) found.push(...Shape.moneys([answer.right.value]))
  }
  return found
})

export const discover = Effect.fn("Doctor.discover")(function* (
  ask: Ask,
  configured: Interface,
  surfaces: ReadonlyArray<Surface>,
) {
  const survey = yield* surveyAll(ask, configured, surfaces)
  const names = Propose.paging(survey.samples, configured)
  const parameters = yield* Parameters.determine(ask, survey.samples, names)
  const money = Propose.money(yield* moneys(ask, survey), configured.money, surfaces.includes("organization"))
  const proposal: Propose.Proposal = {
    profile: {
      ...Propose.withPaths(configured, survey.paths),
      paging: parameters.paging,
      lists: names.lists,
      money: money.money,
    },
    undetermined: [
      ...survey.undetermined,
      ...names.undetermined,
      ...parameters.undetermined,
      ...money.undetermined,
    ],
  }
  return proposal
})
