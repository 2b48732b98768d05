import type { Argument, Plan, Step } from './plan.js'
import type { Token } from './token.js'

/**
 * The plan with some steps moved to the front, as its first stage:
 * - the steps that `isFirst` selects, and the ones that they need;
 * - classes that inject a selected one, and nothing that is built later.
 *
 * @param waits selects steps to build later: they, and the steps that need them, are the second stage of the first steps.
 */
export function buildFirst<I>(
  plan: Plan<I>,
  isFirst: (token: Token) => boolean,
  waits: (step: Step) => boolean = () => false,
): Plan<I> {
  const { steps } = plan
  const first = firstSteps(steps, isFirst)
  if (first.size === 0) return plan
  const waiting = stepsThatNeed(steps, waits)
  const stageOf = (index: number) => (first.has(index) ? (waiting.has(index) ? 1 : 0) : 2)
  const order = [...steps.keys()].sort((a, b) => stageOf(a) - stageOf(b) || a - b)
  const places = new Map(order.map((index, place) => [index, place]))
  const moved = (argument: Argument): Argument =>
    argument.kind === 'request' ? { kind: 'request', index: places.get(argument.index) ?? argument.index } : argument
  const movedSteps = steps.map((step) => ({ ...step, arguments: step.arguments.map(moved) }))
  const countBefore = (stage: number) => order.filter((index) => stageOf(index) < stage).length
  return {
    inputs: plan.inputs,
    steps: order.map((index) => movedSteps[index] as Step), // every index is one of steps
    stages: [...new Set([0, countBefore(1), first.size])],
    controller: moved(plan.controller),
    arguments: plan.arguments.map(moved),
  }
}

/** The steps of a stage. */
export function stepsOfStage({ steps, stages }: Plan<unknown>, stage: number): readonly Step[] {
  return steps.slice(stages[stage], stages[stage + 1])
}

/** The inputs of the steps of each stage but the last, which has all the others. */
export function inputsOfStages(plan: Plan<unknown>): readonly (readonly number[])[] {
  return plan.stages
    .slice(0, -1)
    .map((_, stage) =>
      stepsOfStage(plan, stage).flatMap((step) =>
        step.arguments.flatMap(({ kind, index }) => (kind === 'input' ? [index] : [])),
      ),
    )
}

/** The steps that `isOne` selects, and those that need one of them. */
function stepsThatNeed(steps: readonly Step[], isOne: (step: Step) => boolean): ReadonlySet<number> {
  const found = new Set<number>()
  for (const [index, step] of steps.entries())
    if (isOne(step) || step.arguments.some((argument) => argument.kind === 'request' && found.has(argument.index)))
      found.add(index)
  return found
}

function firstSteps(steps: readonly Step[], isFirst: (token: Token) => boolean): ReadonlySet<number> {
  const first = new Set<number>()
  // A step is built from earlier ones: backwards, each is known to be needed before its own arguments are looked at.
  for (const [index, step] of [...steps.entries()].toReversed()) {
    if (!first.has(index) && !isFirst(step.token)) continue
    first.add(index)
    for (const argument of step.arguments) if (argument.kind === 'request') first.add(argument.index)
  }
  const selected = new Set(steps.flatMap(({ token }, index) => (isFirst(token) ? [index] : [])))
  for (const [index, { provider, arguments: args }] of steps.entries()) {
    const injectsSelected = args.some((argument) => argument.kind === 'request' && selected.has(argument.index))
    const injectsLater = args.some(
      ({ kind, index: other }) => kind === 'input' || (kind === 'request' && !first.has(other)),
    )
    if (first.has(index) || provider.kind !== 'class' || !injectsSelected || injectsLater) continue
    first.add(index)
    selected.add(index)
  }
  return first
}
