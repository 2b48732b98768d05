import { AsyncLocalStorage } from 'node:async_hooks'
import { Model } from 'sequelize'
import { type PendingChange, inForeignKeyOrder, rememberState } from './pending-changes.js'
import { READ_GENERATED } from '../models/database-generated-columns.js'
import { type HookOptions, instanceInternals } from '../sequelize/internals.js'

/** What is being written at this point of the program: hooks of models run inside of it. */
interface Writing {
  readonly writer: ChangeQueue
  readonly instance: Model
  /** Called when the instance's own statement was sent. */
  readonly onSent: () => void
}

const writing = new AsyncLocalStorage<Writing>()

/** Tells whoever writes an instance that its statement is on its way. */
export function markSent(instance: object): void {
  const here = writing.getStore()
  if (here?.instance === instance) here.onSent()
}

/** Rows whose answers may be outstanding at once. */
const MOST_UNDER_WAY = 100

/** The level whose changes it writes. */
interface Home {
  /** @throws when nothing can be written any more. */
  assertOpen(): void
  /** Whether statements may be sent before the ones before them were answered: only where none of them is kept once one has failed. */
  readonly sendsAhead: boolean
}

/** What one level was told to write: in an order that foreign keys allow, each once, one flush after the other. */
export class ChangeQueue {
  /** What is not yet written. */
  readonly changes: PendingChange[] = []
  /** Takes back what writing has made of the instances, should the level be undone. */
  readonly #forget: (() => void)[] = []
  readonly #home: Home
  #flushing: Promise<void> | undefined

  constructor(home: Home) {
    this.#home = home
  }

  /** Whether anything is left to be written, or is being written. */
  get isBusy(): boolean {
    return this.changes.length > 0 || this.#underWay !== undefined
  }

  // A hook of what is being written is part of it, and must not wait for it.
  get #underWay(): Promise<void> | undefined {
    return writing.getStore()?.writer === this ? undefined : this.#flushing
  }

  /** Writes what was noted, after what is being written already. What fails is forgotten; what comes after it stays noted. */
  async flush(): Promise<void> {
    const flushing = this.#writeAll(this.#underWay)
    this.#flushing = flushing
    try {
      await flushing
    } finally {
      if (this.#flushing === flushing) this.#flushing = undefined
    }
  }

  async #writeAll(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {}) // its own caller is told
    const changes = [...inForeignKeyOrder(this.changes.splice(0))]
    try {
      while (changes.length > 0) await this.#writeSome(changes)
    } finally {
      this.changes.unshift(...changes)
    }
  }

  /** Takes the next change, with those that can be sent without waiting for answers; all are answered when it returns. */
  async #writeSome(changes: PendingChange[]): Promise<void> {
    const underWay = new Map<Model, { readonly change: PendingChange; readonly written: Promise<unknown> }>()
    this.#home.assertOpen()
    for (let change = changes.shift(); change; change = changes.shift()) {
      const { written, isSent } = this.#write(change)
      underWay.set(change.instance, { change, written })
      const isWell = await isSent
      const [next] = changes
      if (!isWell || !next || underWay.has(next.instance) || underWay.size >= MOST_UNDER_WAY) break
      if (![change, next].every((one) => this.#home.sendsAhead && needsNoAnswer(one))) break
    }
    const all = [...underWay.values()]
    const results = await Promise.allSettled(all.map(({ written }) => written))
    const failure = results.find((result) => result.status === 'rejected')
    if (!failure) return
    const later = all.slice(results.indexOf(failure) + 1)
    changes.unshift(...later.map(({ change }) => change))
    throw failure.reason
  }

  /** `isSent` resolves as soon as the next may follow, to false when it has failed. */
  #write({ kind, instance }: PendingChange): { readonly written: Promise<unknown>; readonly isSent: Promise<boolean> } {
    this.#forget.push(rememberState(instance))
    const { promise, resolve } = deferred()
    const here = { writer: this, instance, onSent: () => resolve(true) }
    const written = writing.run(here, () => (kind === 'save' ? instance.save() : instance.destroy()))
    written.then(
      () => resolve(true),
      () => resolve(false),
    )
    return { written, isSent: promise }
  }

  /** The level was kept in its outer one: what would undo it belongs there. */
  keepIn(outer: ChangeQueue): void {
    outer.#forget.push(...this.#forget)
  }

  /** The level was undone: the instances are what they were. */
  undo(): void {
    for (const forget of this.#forget.toReversed()) forget()
  }
}

const HOOKS = [
  'validationFailed',
  ...['Validate', 'Save', 'Create', 'Update'].flatMap((name) => [`before${name}`, `after${name}`]),
]

// Otherwise code of the program runs between a row's answer and the next row.
function needsNoAnswer({ kind, instance }: PendingChange): boolean {
  const { constructor: model, _options } = instanceInternals(instance)
  const isSaved = kind === 'save' && instance.save === Model.prototype.save && !_options.include?.length
  return isSaved && !model._versionAttribute && !isHooked(model) && !isHooked(model.sequelize)
}

function isHooked({ options: { hooks = {} } }: { readonly options: HookOptions }): boolean {
  return HOOKS.some((type) => hooks[type]?.some(({ name }) => name !== READ_GENERATED))
}

function deferred(): { readonly promise: Promise<boolean>; readonly resolve: (value: boolean) => void } {
  let resolve: (value: boolean) => void = () => {}
  const promise = new Promise<boolean>((settle) => (resolve = settle))
  return { promise, resolve }
}
