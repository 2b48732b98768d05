import type { Argument, Plan, Step } from './plan.js'
import type { Provider } from './provider.js'
import { type Token, tokenName } from './token.js'

/** The values of a running app, and the way to those of one request. */
export class Container {
  readonly #steps: readonly Step[]
  #values: readonly unknown[] = []
  #owned = new Owned()

  constructor(steps: readonly Step[]) {
    this.#steps = steps
  }

  /**
   * Builds everything that lives as long as the app. Called again after {@link stop}, it builds anew.
   *
   * @throws what a factory or a constructor throws; what was built before is disposed.
   */
  async start(): Promise<void> {
    const values: unknown[] = []
    const owned = new Owned()
    try {
      for (const step of this.#steps) {
        const value = await create(step, argumentsOf(step.arguments, [], [], values))
        if (step.provider.kind !== 'value') owned.add(value)
        values.push(value)
      }
    } catch (error) {
      await owned.dispose().catch(() => {}) // why it could not start says more than what then went wrong
      throw error
    }
    this.#values = values
    this.#owned = owned
  }

  /** Disposes what was built for the whole app, last built first. */
  async stop(): Promise<void> {
    this.#values = []
    await this.#owned.dispose()
  }

  /** A scope for one request; `given` are the values that come with it. */
  scope(given: ReadonlyMap<Token, unknown>): Scope {
    return new Scope(this.#values, given)
  }
}

/** The values of one attempt at a request. */
export class Scope {
  readonly #application: readonly unknown[]
  readonly #given: ReadonlyMap<Token, unknown>
  #owned: Owned | undefined
  #closed = false

  constructor(application: readonly unknown[], given: ReadonlyMap<Token, unknown>) {
    this.#application = application
    this.#given = given
  }

  /**
   * Builds what the plan says and calls `use` with the controller and the handler's arguments. Managed values are brackets around `use`.
   *
   * @throws when the scope was disposed before `use` could be called, and what a factory or `use` throws.
   */
  async run<R>(
    plan: Plan<unknown>,
    inputs: readonly unknown[],
    use: (controller: unknown, args: unknown[]) => Promise<R>,
  ): Promise<R> {
    const values: unknown[] = []
    const from = async (index: number): Promise<R> => {
      for (let i = index; i < plan.steps.length; i++) {
        this.#refuseClosed()
        const step = plan.steps[i] as Step
        const args = argumentsOf(step.arguments, inputs, values, this.#application)
        if (step.provider.kind === 'managed')
          return inside(step, step.provider.around, args, (value) => ((values[i] = value), from(i + 1)))
        values[i] = step.provider.kind === 'given' ? this.#given.get(step.token) : await this.#own(create(step, args))
      }
      this.#refuseClosed()
      const [controller] = argumentsOf([plan.controller], inputs, values, this.#application)
      return use(controller, argumentsOf(plan.arguments, inputs, values, this.#application))
    }
    return from(0)
  }

  async #own(creating: unknown): Promise<unknown> {
    const value = await creating
    // A factory may hand on a value of the app, which outlives the request.
    if (isDisposable(value) && !this.#application.includes(value)) (this.#owned ??= new Owned()).add(value)
    if (this.#closed) await this.#owned?.dispose() // it came too late to be disposed with the others
    return value
  }

  #refuseClosed(): void {
    if (this.#closed) throw new Error('What this handler was to work with is disposed already: its request has ended.')
  }

  /** Disposes what this scope built, last built first; what is still being built, as soon as it is there. Nothing more is run. */
  async dispose(): Promise<void> {
    this.#closed = true
    await this.#owned?.dispose()
  }
}

// The result is what `use` resolved to, whatever `around` does with it.
async function inside<R>(
  { token }: Step,
  around: Extract<Provider, { kind: 'managed' }>['around'],
  args: unknown[],
  use: (value: unknown) => Promise<R>,
): Promise<R> {
  let using: Promise<R> | undefined
  const once = (value: unknown) => {
    if (using) throw new TypeError(`provide(${tokenName(token)}, { managed }): use() was called a second time.`)
    using = use(value)
    using.catch(() => {}) // `around` may fail before it, and then nobody waits for it
    return using
  }
  await around(once, ...(args as never[]))
  if (using) return using
  throw new TypeError(
    `provide(${tokenName(token)}, { managed }): use() was not called, so that the handler did not run. ` +
      `Write: async (use) => { ...; return await use(value) }, and throw to refuse the request.`,
  )
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
    case 'value':
      return step.provider.value
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

/** What was built here and is to be disposed here, once: a factory may hand on what another built. */
class Owned {
  readonly #known = new WeakSet<object>()
  #values: Partial<Disposable & AsyncDisposable>[] = []

  add(value: unknown): void {
    if (!isDisposable(value) || this.#known.has(value)) return
    this.#known.add(value)
    this.#values.push(value)
  }

  /** Last built first. All are disposed, also when one fails; then the failures are thrown. */
  async dispose(): Promise<void> {
    const failures: unknown[] = []
    const values = this.#values.toReversed()
    this.#values = []
    for (const value of values) {
      try {
        await (value[Symbol.asyncDispose] ?? value[Symbol.dispose])?.call(value)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} value(s) could not be disposed`)
  }
}

function isDisposable(value: unknown): value is Partial<Disposable & AsyncDisposable> {
  return typeof value === 'object' && value !== null && (Symbol.asyncDispose in value || Symbol.dispose in value)
}
