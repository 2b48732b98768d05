import type { Sequelize } from 'sequelize'
import type { SentStatement } from '../../core/events/request-record.js'
import type { StatementSource } from '../statements/statement-source.js'

interface Sent {
  readonly sequelize: Sequelize
  readonly source: StatementSource | undefined
}

/** Not properties of the statements: subscribers to events get those, without values. */
const sources = new WeakMap<SentStatement, Sent>()

/** Keeps the values of a statement for its plan. */
export function keepSource(statement: SentStatement, sent: Sent): void {
  sources.set(statement, sent)
}

/** Undefined for a statement of another package, and of requests whose statements are not explained. */
export function sourceOf(statement: SentStatement): Sent | undefined {
  return sources.get(statement)
}
