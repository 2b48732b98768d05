import type { Connection } from './connect.js'

/** Warns if the URL names only a standby: each write would be refused. */
export async function warnOfStandby(
  { sequelize, dialect, name }: Connection,
  warn: (line: string) => void,
): Promise<void> {
  if (!(await dialect.isStandby?.(sequelize))) return
  warn(
    `The database (${name}) is a standby, which refuses all writes. Write the URL of its primary, or all hosts (postgres://a,b/heroes), ` +
      'of which the one that accepts writes is used. If only reads are wanted, add ?target_session_attrs=standby.',
  )
}
