import type { Argument, Plan, Step } from './plan.js'
import type { Token } from './token.js'

/** The values of a running app, and the way to those of one request. */
export class Container {
  readonly #steps: readonly Step[]
  #values: unknown[] = []

  constructor(steps: readonly Step[]) {
    this.#steps = steps
  }

  /** Builds everything that lives as long as the app. Called again after {@link stop}, it builds anew. */
  async start(): Promise<void> {
    const values: unknown[] = []
    for (const step of this.#steps) values.push(await create(step, argumentsOf(step.arguments, [], [], values)))
    this.#values = values
  }

  /** Disposes what lives as long as the app, last built first. */
  async stop(): Promise<void> {
    const values = this.#values
    this.#values = []
    await disposeAll(values)
  }

  /** A scope for one request; `given` are the values that come with it. */
  scope(given: ReadonlyMap<Token, unknown>): Scope {
    return new Scope(this.#values, given)
  }
}

/** The values of one request. */
export class Scope {
  readonly #application: readonly unknown[]
  readonly #given: ReadonlyMap<Token, unknown>
  readonly #owned: unknown[] = []

  constructor(application: readonly unknown[], given: ReadonlyMap<Token, unknown>) {
    this.#application = application
    this.#given = given
  }

  /** Builds what the plan says and calls `use` with the controller and the handler's arguments. Managed values are brackets around `use`. */
  async run<R>(
    plan: Plan<unknown>,
    inputs: readonly unknown[],
    use: (controller: unknown, args: unknown[]) => Promise<R>,
  ): Promise<R> {
    const values: unknown[] = []
    const from = async (index: number): Promise<R> => {
      for (let i = index; i < plan.steps.length; i++) {
        const step = plan.steps[i] as Step
        const args = argumentsOf(step.arguments, inputs, values, this.#application)
        if (step.provider.kind === 'managed')
          return this.#inside(step.provider.around, args, (value) => ((values[i] = value), from(i + 1)))
        values[i] = step.provider.kind === 'given' ? this.#given.get(step.token) : await this.#own(create(step, args))
      }
      const [controller] = argumentsOf([plan.controller], inputs, values, this.#application)
      return use(controller, argumentsOf(plan.arguments, inputs, values, this.#application))
    }
    return from(0)
  }

  async #inside<R>(
    around: (use: (value: unknown) => Promise<unknown>, ...args: never[]) => Promise<unknown>,
    args: unknown[],
    use: (value: unknown) => Promise<R>,
  ): Promise<R> {
    // What `use` resolves to comes back through `around`, whose result type was erased in provide().
    return (await around(use, ...(args as never[]))) as R
  }

  async #own(creating: unknown): Promise<unknown> {
    const value = await creating
    if (isDisposable(value)) this.#owned.push(value)
    return value
  }

  /** Disposes what this scope built, last built first. All are disposed, also when one fails; then the failures are thrown. */
  async dispose(): Promise<void> {
    if (this.#owned.length > 0) await disposeAll(this.#owned.splice(0))
  }
}

function create(step: Step, args: unknown[]): unknown {
  switch (step.provider.kind) {
    case 'class': {
      // Only now is a concrete class needed: a token may be abstract.
      const type = step.provider.type as new (...args: unknown[]) => unknown
      return new type(...args)
    }
    case 'factory':
      return step.provider.create(...(args as never[]))
    default:
      throw new TypeError(`A ${step.provider.kind} provider creates nothing.`)
  }
}

function argumentsOf(
  from: readonly Argument[],
  inputs: readonly unknown[],
  request: readonly unknown[],
  application: readonly unknown[],
): unknown[] {
  return from.map(({ kind, index }) => {
    switch (kind) {
      case 'input':
        return inputs[index]
      case 'request':
        return request[index]
      case 'application':
        return application[index]
    }
  })
}

function isDisposable(value: unknown): value is Partial<Disposable & AsyncDisposable> {
  return typeof value === 'object' && value !== null && (Symbol.asyncDispose in value || Symbol.dispose in value)
}

async function disposeAll(values: readonly unknown[]): Promise<void> {
  const failures: unknown[] = []
  for (const value of values.toReversed()) {
    if (!isDisposable(value)) continue
    try {
      await (value[Symbol.asyncDispose] ?? value[Symbol.dispose])?.call(value)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} value(s) could not be disposed`)
}
