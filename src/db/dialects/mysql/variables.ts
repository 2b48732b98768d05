import { type MysqlConnection, query } from '../../drivers/mysql.js'

/** Sets variables. One that the server does not know is skipped: MySQL and MariaDB have different ones. */
export async function setVariables(connection: MysqlConnection, assignments: string): Promise<void> {
  await query(connection, `SET ${assignments}`).catch((error: unknown) => {
    if (!isUnknownVariable(error)) throw error
  })
}

function isUnknownVariable(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && error.errno === 1193
}
