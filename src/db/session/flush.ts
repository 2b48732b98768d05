import { AsyncLocalStorage } from 'node:async_hooks'
import { Model } from 'sequelize'
import { instanceInternals } from '../sequelize/internals.js'
import { hasSaveHooks } from '../sequelize/own-hooks.js'
import { inForeignKeyOrder, type PendingChange } from './foreign-key-order.js'
import type { PendingCounter } from '../../core/promises.js'
import { isOfSequelize } from '../sequelize/own-methods.js'

/** The change that is being written in the current asynchronous context, in which hooks of its model run. */
interface CurrentChange {
  readonly queue: ChangeQueue
  readonly instance: Model
  /** Called when the statement of the instance was sent. */
  readonly onSent: () => void
}

const currentChange = new AsyncLocalStorage<CurrentChange>()

/** Lets the flush send the next row: the statement of this instance was sent. */
export function markSent(instance: object): void {
  const current = currentChange.getStore()
  if (current?.instance === instance) current.onSent()
}

/** How many rows are sent before their answers are awaited. */
const MAX_UNANSWERED = 100

interface FlushScope {
  /** @throws when statements are refused, as after the end of the session. */
  assertOpen(): void
  /** Inserts or updates an instance without Sequelize; undefined if Sequelize must save it. */
  save(instance: Model, onSent?: () => void): Promise<unknown> | undefined
  /** Deletes an instance in the same way. */
  destroy(instance: Model): Promise<unknown> | undefined
  /** Whether a row may be sent before the previous one was answered: only if a failed statement makes the database refuse the later ones. */
  readonly sendsAhead: boolean
}

interface SentChange {
  readonly change: PendingChange
  readonly written: Promise<unknown>
}

/** The pending changes of one transaction scope. A flush executes each once, in foreign-key order; flushes run one after the other. */
export class ChangeQueue {
  readonly #scope: FlushScope
  #pending: PendingChange[] = []
  /** Restores the instances that were written, if the scope is rolled back. */
  readonly #restore: (() => void)[] = []
  #flushing: Promise<unknown> | undefined

  constructor(scope: FlushScope) {
    this.#scope = scope
  }

  add(change: PendingChange): void {
    this.#pending.push(change)
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0
  }

  /** Whether changes are pending or being written. */
  get isBusy(): boolean {
    return !this.isEmpty || this.#otherFlush !== undefined
  }

  // A hook that runs in a flush would wait for itself.
  get #otherFlush(): Promise<unknown> | undefined {
    return currentChange.getStore()?.queue === this ? undefined : this.#flushing
  }

  /**
   * Executes the pending changes, after a flush that is running. Call it while the scope is open. A change that fails is dropped; those after it stay pending.
   *
   * @param pending counts it until its end.
   */
  flush(pending: PendingCounter): Promise<void> {
    const running = this.#flushing && this.#otherFlush
    const flushing = !running && this.#pending.length === 1 ? this.#writeOnly() : this.#writeAll(running)
    this.#flushing = flushing
    const end = () => {
      if (this.#flushing === flushing) this.#flushing = undefined
      pending.leave()
    }
    return flushing.then(end, (error: Error) => {
      end()
      throw error
    })
  }

  // Promises cost time, and most flushes have one change.
  #writeOnly(): Promise<unknown> {
    try {
      // A save() of the program may throw, or return no promise.
      return Promise.resolve(this.#write(this.#pending.pop() as PendingChange, undefined)) // the only one
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #writeAll(previous: Promise<unknown> | undefined): Promise<void> {
    await previous?.catch(() => {}) // its own caller gets the error
    const changes = [...inForeignKeyOrder(this.#pending.splice(0))]
    try {
      while (changes.length > 0) await this.#writeBatch(changes)
    } finally {
      if (changes.length > 0) this.#pending = changes.concat(this.#pending) // as arguments, a hundred thousand would exceed the stack
    }
  }

  /** Takes the next change, with those that can be sent before it is answered. Returns when all are answered. */
  async #writeBatch(changes: PendingChange[]): Promise<void> {
    const batch = new Map<Model, SentChange>()
    this.#scope.assertOpen()
    for (let change = changes.shift(); change; change = changes.shift()) {
      const { promise: isSent, resolve } = deferred()
      const written = this.#write(change, () => resolve(true))
      written.then(
        () => resolve(true),
        () => resolve(false),
      )
      batch.set(change.instance, { change, written })
      const hasFailed = !(await isSent)
      const [next] = changes
      if (hasFailed || !next || batch.has(next.instance) || batch.size >= MAX_UNANSWERED) break
      if (![change, next].every((one) => this.#scope.sendsAhead && canBeSentAhead(one))) break
    }
    const sent = [...batch.values()]
    const results = await Promise.allSettled(sent.map(({ written }) => written))
    const failure = results.find((result) => result.status === 'rejected')
    if (!failure) return
    const later = sent.slice(results.indexOf(failure) + 1)
    changes.unshift(...later.map(({ change }) => change))
    throw failure.reason
  }

  /** `onSent` is called when the next change may be sent. */
  #write({ kind, instance }: PendingChange, onSent: (() => void) | undefined): Promise<unknown> {
    this.#restore.push(rememberState(instance))
    return (
      (kind === 'save' ? this.#scope.save(instance, onSent) : this.#scope.destroy(instance)) ??
      currentChange.run({ queue: this, instance, onSent: onSent ?? (() => {}) }, () =>
        kind === 'save' ? instance.save() : instance.destroy(),
      )
    )
  }

  /** The savepoint was released: a rollback of the outer scope also undoes its changes. */
  moveUndoTo(outer: ChangeQueue): void {
    for (const restore of this.#restore) outer.#restore.push(restore)
  }

  /** The scope was rolled back: its instances get back the state that they had before they were written. */
  undo(): void {
    for (const restore of this.#restore.toReversed()) restore()
  }
}

// Only a plain insert or update: hooks and an overridden save() are code of the program, which expects that the previous row was answered.
function canBeSentAhead({ kind, instance }: PendingChange): boolean {
  const { constructor: model, _options } = instanceInternals(instance)
  const isSaved = kind === 'save' && isOfSequelize(instance, 'save') && !_options.include?.length
  return isSaved && !model._versionAttribute && !hasSaveHooks(model.options) && !hasSaveHooks(model.sequelize.options)
}

function deferred(): { readonly promise: Promise<boolean>; readonly resolve: (value: boolean) => void } {
  let resolve: (value: boolean) => void = () => {}
  const promise = new Promise<boolean>((settle) => (resolve = settle))
  return { promise, resolve }
}

/**
 * Remembers the state of an instance before it is written; the returned function restores it. A rollback to a savepoint removes the row, and the
 * instance must be written again if it is added again.
 */
function rememberState(instance: Model): () => void {
  const state = instanceInternals(instance)
  const { isNewRecord, _previousDataValues, _changed } = state
  const [previous, changed] = [{ ..._previousDataValues }, [..._changed]]
  const { autoIncrementAttribute: generated } = state.constructor
  const hadKey = generated !== null && (instance.getDataValue(generated) ?? undefined) !== undefined
  return () => {
    state.isNewRecord = isNewRecord
    state._previousDataValues = previous
    for (const name of changed) state._changed.add(name)
    if (generated !== null && !hadKey) instance.setDataValue(generated, null)
  }
}
