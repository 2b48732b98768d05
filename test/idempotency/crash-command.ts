// See scripts/crash.js, which starts it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { mariadbUrl } from '../support/mariadb.js'
import { startPostgres } from '../support/postgres-server.js'
import { crash } from './crash.js'
import { disconnectAll } from './disconnect.js'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    database: { type: 'string', default: 'sqlite' },
    clients: { type: 'string', default: '8' },
  },
})

const { url, stop } = await open(values.database)
try {
  const outcome = await crash({
    url,
    kills: Number(values.kills),
    clients: Number(values.clients),
    disconnect: disconnectAll(url),
    onKill: (kills, payments) => void (kills % 10 === 0 && console.log(`${kills} kills, ${payments} payments`)),
  })
  console.log(`${values.database}: each payment was made exactly once.`, outcome)
} finally {
  await stop()
}

async function open(database: string): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const nothing = () => Promise.resolve()
  switch (database) {
    case 'sqlite': {
      const folder = mkdtempSync(join(tmpdir(), 'sequitur-crash-'))
      const stop = async () => rmSync(folder, { recursive: true })
      return { url: `sqlite+sqlite3:///${join(folder, 'payments.sqlite')}`, stop }
    }
    case 'postgres':
      return startPostgres()
    case 'mariadb':
      return { url: await mariadbUrl('mariadb+mariadb'), stop: nothing }
    case 'mysql2':
      return { url: await mariadbUrl('mysql+mysql2'), stop: nothing }
    default:
      throw new Error(`There is no database '${database}'. Write --database sqlite, postgres, mariadb or mysql2.`)
  }
}
