import type { Argument, Plan, Step } from './plan.js'
import type { Token } from './token.js'

/**
 * The plan with some steps moved to the front: those that `isFirst` selects, the ones that they need, and classes that inject a selected one
 * and nothing that is built later.
 */
export function buildFirst<I>(plan: Plan<I>, isFirst: (token: Token) => boolean): Plan<I> {
  const { steps } = plan
  const first = firstSteps(steps, isFirst)
  if (first.size === 0) return plan
  const order = [...steps.keys()].sort((a, b) => Number(first.has(b)) - Number(first.has(a)) || a - b)
  const places = new Map(order.map((index, place) => [index, place]))
  const moved = (argument: Argument): Argument =>
    argument.kind === 'request' ? { kind: 'request', index: places.get(argument.index) ?? argument.index } : argument
  const movedSteps = steps.map((step) => ({ ...step, arguments: step.arguments.map(moved) }))
  return {
    inputs: plan.inputs,
    steps: order.map((index) => movedSteps[index] as Step), // every index is one of steps
    first: first.size,
    controller: moved(plan.controller),
    arguments: plan.arguments.map(moved),
  }
}

/** The inputs of the steps that come first. */
export function inputsOfFirst({ steps, first }: Plan<unknown>): readonly number[] {
  return steps
    .slice(0, first)
    .flatMap((step) => step.arguments.flatMap(({ kind, index }) => (kind === 'input' ? [index] : [])))
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
