import { QueryTypes, type Sequelize } from 'sequelize'
import { BootError } from '../../core/boot-error.js'

/** @param version as CockroachDB and YugabyteDB have it: `CockroachDB CCL v25.2`, `PostgreSQL 15.12-YB-2025.1`. */
export function isDistributed(version: string): boolean {
  return version.startsWith('CockroachDB') || version.includes('-YB-')
}

/**
 * Requires that handlers are run again where the database refuses what conflicts.
 *
 * @param withoutRetry what handlers do that conflicts, by their names.
 * @throws BootError on CockroachDB and YugabyteDB.
 */
export async function requireRetry(sequelize: Sequelize, withoutRetry: ReadonlyMap<string, string>): Promise<void> {
  const [[handler, what] = []] = withoutRetry
  if (handler === undefined || sequelize.getDialect() !== 'postgres') return
  const [row] = await sequelize.query<{ version: string }>('SELECT version() AS version', { type: QueryTypes.SELECT })
  if (!row || !isDistributed(row.version)) return
  throw new BootError(
    `${[...withoutRetry.keys()].join(', ')} ${what}, which this database refuses at times, as others do it at the same time. ` +
      `Run it again then: @Transactional({ retry: 5 }) on ${handler}.`,
  )
}
