import type { Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { endsWithin } from '../core/promises.js'
import type { Boundary } from './boundary.js'
import { writePoolOf } from './sequelize/internals.js'

/** Milliseconds between two checks, and after one that has found a limit missing. */
const INTERVAL = 30_000
const INTERVAL_IF_MISSING = 1_000

/** Checks while an app runs whether a boundary still limits its database: a migration may have removed what the start has found. */
export class BoundaryWatch {
  readonly #boundary: Boundary
  readonly #sequelize: Sequelize
  #dueAt = performance.now() + INTERVAL
  #checking: Promise<void> | undefined
  #missing: BootError | undefined

  constructor(boundary: Boundary, sequelize: Sequelize) {
    this.#boundary = boundary
    this.#sequelize = sequelize
  }

  /**
   * Checks again, if the last check is long ago and no request waits for a connection.
   *
   * @param wait milliseconds; a check that takes longer is reported by a later call.
   * @throws BootError for limits that are missing.
   */
  async assertLimits(wait: number): Promise<void> {
    if (performance.now() >= this.#dueAt && hasFree(this.#sequelize)) this.#checking ??= this.#check()
    if (this.#checking) await endsWithin(this.#checking, wait)
    if (this.#missing) throw this.#missing
  }

  async #check(): Promise<void> {
    try {
      await this.#boundary.checkAgain?.(this.#sequelize)
      this.#missing = undefined
    } catch (error) {
      if (error instanceof BootError) this.#missing = error // otherwise the database did not answer, which says nothing about its limits
    }
    this.#dueAt = performance.now() + (this.#missing ? INTERVAL_IF_MISSING : INTERVAL)
    this.#checking = undefined
  }
}

function hasFree(sequelize: Sequelize): boolean {
  const { waiting, available, size, maxSize } = writePoolOf(sequelize)
  return waiting === 0 && (available > 0 || size < maxSize)
}
