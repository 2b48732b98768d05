// Migrates the database of `toolkit_url` by the folder that is its argument. On SQLite it kills itself at the statement `kill_at`, of those that sqlite3
// executes. JavaScript, which starts in a fraction of the time.
import { createRequire } from 'node:module'
import { newLifespan } from 'sequitur'
import { migrate } from 'sequitur/migrations'

const { kill_at, kill_when } = process.env
if (kill_at !== undefined) killAt(Number(kill_at), kill_when)

await migrate(newLifespan(), { directory: process.argv[2] ?? '' })

/**
 * @param {number} statement
 * @param {string | undefined} when before the statement, while it is executed, or after it.
 */
function killAt(statement, when) {
  const { Database, Statement } = createRequire(import.meta.url)('sqlite3')
  let count = 0
  const kill = () => process.kill(process.pid, 'SIGKILL')
  for (const [prototype, names] of [
    [Statement.prototype, ['run', 'all', 'get', 'each']],
    [Database.prototype, ['exec']],
  ])
    for (const name of names) {
      const method = prototype[name]
      prototype[name] = function (/** @type {unknown[]} */ ...given) {
        const isIt = ++count === statement
        if (isIt && when === 'before') kill()
        const done = given.at(-1)
        if (isIt && when === 'after' && typeof done === 'function') given[given.length - 1] = kill
        const result = method.apply(this, given)
        if (isIt && when === 'during') kill()
        return result
      }
    }
}
