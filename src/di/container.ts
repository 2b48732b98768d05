import { endsWithin, isThenable, type Limit, unlessGivenUp } from '../core/promises.js'
import type { Argument, Plan, Step } from './plan.js'
import type { Provider } from './provider.js'
import { type Token, tokenName } from './token.js'

/** Holds the values that live as long as the app. */
export class Container {
  readonly #steps: readonly Step[]
  /** Those that live as long as the app: from its start on. */
  values: readonly unknown[] = []
  #owned = new Owned()

  constructor(steps: readonly Step[]) {
    this.#steps = steps
  }

  /**
   * Builds everything that lives as long as the app; after {@link stop}, builds it again.
   *
   * @param limit builds nothing more after its signal, and abandons a factory that does not end in time.
   * @throws what a factory or a constructor throws, or the reason of the signal; the values built before are disposed.
   */
  async start(limit: Limit): Promise<void> {
    const values: unknown[] = []
    const owned = new Owned()
    try {
      for (const step of this.#steps) {
        limit.signal.throwIfAborted()
        const value = await createWithin(
          limit,
          step,
          argumentsOf(step.arguments, { input: [], request: [], application: values }),
        )
        if (step.provider.kind !== 'value') owned.add(value)
        values.push(value)
      }
    } catch (error) {
      await owned.dispose(limit.grace).catch(() => {}) // the first error is the cause
      throw error
    }
    this.values = values
    this.#owned = owned
  }

  /**
   * Disposes the values of the app, in the reverse order of their creation.
   *
   * @param wait milliseconds that all disposers have together; each has a second at least.
   * @throws AggregateError of the disposers that have failed, or have not ended in time.
   */
  async stop(wait: number): Promise<void> {
    this.values = []
    await this.#owned.dispose(wait)
  }
}

/** The values of a plan's inputs, by their index; read for each run of a handler. */
export interface InputValues {
  /** The values of the inputs of a stage of the plan, called in their order when the steps before it are built. Rejects when one is invalid; the last stage has all the others. */
  read(stage: number): readonly unknown[] | Promise<readonly unknown[]>
}

const NO_INPUTS: readonly unknown[] = []

/** The objects that a request disposes, or has disposed: another one must not use it. */
const ownedByRequests = new WeakSet<object>()

function sharedValue(token: Token): TypeError {
  const name = tokenName(token)
  return new TypeError(
    `The provider of ${name} returned the same object for two requests, but each request disposes of its own at its end. ` +
      `If they share it, write { lifetime: 'application' }; ` +
      `if it comes from a pool, acquire and release it in provide(${name}, { managed: async (use) => { ... } }); else return a new object.`,
  )
}

/** The request, or the job, that a scope builds values for. */
export interface ScopeCaller {
  /** A value that the caller provides, such as the request. */
  given(token: Token): unknown
  /** Calls the handler. */
  call(controller: unknown, args: unknown[]): unknown
  /** Receives an error of the disposal of a value. */
  report(error: unknown): void
}

/** The values of one run of a handler. */
export class Scope {
  readonly #application: readonly unknown[]
  readonly #caller: ScopeCaller
  #owned: Owned | undefined
  #closed = false

  constructor({ values }: Container, caller: ScopeCaller) {
    this.#application = values
    this.#caller = caller
  }

  /**
   * Builds the plan's values and calls the handler. Each managed provider wraps the rest, including the handler. Returns a promise only if something must be awaited.
   *
   * @param around called when the values before the plan's last stage are built and all inputs are valid, with what does the rest; may return without calling it.
   * @throws what a factory or the handler throws, and an Error when the scope is disposed before the handler is called.
   */
  run(plan: Plan<unknown>, given: InputValues, around?: (rest: () => unknown) => unknown): unknown {
    const values: unknown[] = []
    const sources: Sources = { input: NO_INPUTS, request: values, application: this.#application }
    const { stages } = plan
    let stage = 0
    const buildFrom = (index: number): unknown => {
      for (let i = index; ; i++) {
        if (i === stages[stage]) {
          const reading = given.read(stage++)
          const wrap = stage === stages.length ? around : undefined
          if (reading instanceof Promise)
            return reading.then((read) => ((sources.input = read), wrap ? wrap(() => buildFrom(i)) : buildFrom(i)))
          sources.input = reading
          if (wrap) return wrap(() => buildFrom(i))
        }
        if (this.#closed) throw requestHasEnded()
        if (i === plan.steps.length) break
        const step = plan.steps[i] as Step // i is below the length
        if (step.provider.kind === 'given') {
          values[i] = this.#caller.given(step.token)
          continue
        }
        const args = argumentsOf(step.arguments, sources)
        if (step.provider.kind === 'managed')
          return runManaged(step, step.provider.around, args, async (value) => ((values[i] = value), buildFrom(i + 1)))
        const value = step.create?.(...args)
        if (isThenable(value)) return this.#later(step, value).then((later) => ((values[i] = later), buildFrom(i + 1)))
        values[i] = value
        if (isDisposable(value)) this.#own(step, value)
      }
      const { kind, index: place } = plan.controller
      return this.#caller.call(sources[kind][place], argumentsOf(plan.arguments, sources))
    }
    return buildFrom(0)
  }

  async #later(step: Step, creating: PromiseLike<unknown>): Promise<unknown> {
    const value = await creating
    if (isDisposable(value)) this.#own(step, value)
    if (this.#closed) await this.#owned?.dispose() // dispose() was called before it was built
    return value
  }

  // A factory may return a value of the app, which lives longer than the request.
  #own({ token }: Step, value: object): void {
    if (this.#application.includes(value)) return
    const owned = (this.#owned ??= new Owned())
    if (owned.has(value)) return
    if (ownedByRequests.has(value)) throw sharedValue(token)
    ownedByRequests.add(value)
    owned.add(value)
  }

  /** The name of the class whose value is being disposed; undefined if none is. */
  get disposing(): string | undefined {
    return this.#owned?.disposing
  }

  /**
   * Disposes what this scope built, last built first; a value that is still being built, as soon as it is ready. Builds nothing more.
   * Undefined if there is nothing to dispose. Never rejects: errors are reported.
   */
  dispose(): Promise<void> | undefined {
    this.#closed = true
    return this.#owned?.dispose().catch((error: unknown) => this.#caller.report(error))
  }
}

function requestHasEnded(): Error {
  return new Error('The request of this handler has ended: its services are disposed.')
}

// The result is the one of `use`: a managed provider need not return it.
async function runManaged<R>(
  { token }: Step,
  around: Extract<Provider, { kind: 'managed' }>['around'],
  args: unknown[],
  use: (value: unknown) => Promise<R>,
): Promise<R> {
  let using: Promise<R> | undefined
  const once = (value: unknown) => {
    if (using) throw new TypeError(`provide(${tokenName(token)}, { managed }): use() was called a second time.`)
    using = use(value)
    using.catch(() => {}) // `around` may reject before it does: then its own rejection is never awaited
    return using
  }
  await around(once, ...(args as never[])) // of the types that `inject` names
  if (using) return using
  throw new TypeError(
    `provide(${tokenName(token)}, { managed }): use() was not called, so the handler did not run. ` +
      `Write: async (use) => { ...; return await use(value) }, and throw to refuse the request.`,
  )
}

// If its factory was abandoned, a value that arrives late is disposed of at once: no one else holds it.
function createWithin(limit: Limit, step: Step, args: unknown[]): unknown {
  const value = step.create?.(...args)
  if (!isThenable(value)) return value
  return unlessGivenUp(value, limit, (late) => {
    const owned = new Owned()
    owned.add(late)
    void owned.dispose().catch(() => {})
  })
}

/** The values that arguments are taken from. */
type Sources = Record<Argument['kind'], readonly unknown[]>

function argumentsOf(from: readonly Argument[], sources: Sources): unknown[] {
  const values: unknown[] = []
  for (const { kind, index } of from) values.push(sources[kind][index])
  return values
}

/** Milliseconds that a disposer of the app has at least: one that does not end must not take the time of the others. */
const LEAST_WAIT = 1_000

/** The values to dispose, each once: a factory may return a value that another one has built. */
class Owned {
  readonly #known = new WeakSet<object>()
  #values: Partial<Disposable & AsyncDisposable>[] = []
  #disposing: object | undefined

  /** The name of the class whose value is being disposed; undefined if none is. */
  get disposing(): string | undefined {
    return this.#disposing && nameOfClass(this.#disposing)
  }

  has(value: object): boolean {
    return this.#known.has(value)
  }

  add(value: unknown): void {
    if (!isDisposable(value) || this.#known.has(value)) return
    this.#known.add(value)
    this.#values.push(value)
  }

  /**
   * Disposes all, last built first. Throws the failures together at the end.
   *
   * @param wait milliseconds for all of them together; undefined for no limit.
   */
  async dispose(wait?: number): Promise<void> {
    const failures: unknown[] = []
    const end = wait === undefined ? undefined : performance.now() + wait
    const values = this.#values.toReversed()
    this.#values = []
    for (const value of values) {
      this.#disposing = value
      try {
        const disposing = (value[Symbol.asyncDispose] ?? value[Symbol.dispose])?.call(value)
        if (end === undefined || !disposing) await disposing
        else await endOf(disposing, Math.max(LEAST_WAIT, end - performance.now()), value)
      } catch (error) {
        failures.push(error)
      }
    }
    this.#disposing = undefined
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} value(s) could not be disposed`)
  }
}

async function endOf(disposing: PromiseLike<void>, limit: number, value: object): Promise<void> {
  if (await endsWithin(Promise.resolve(disposing), limit)) return
  throw new Error(
    `The disposer of ${nameOfClass(value)} has not ended in time; the app closes without waiting for it. Set a timeout for what it waits for.`,
  )
}

function isDisposable(value: unknown): value is Partial<Disposable & AsyncDisposable> {
  return typeof value === 'object' && value !== null && (Symbol.asyncDispose in value || Symbol.dispose in value)
}

function nameOfClass(value: object): string {
  const { constructor } = value as { constructor?: unknown }
  return typeof constructor === 'function' && constructor !== Object ? constructor.name : 'an object without a class'
}
