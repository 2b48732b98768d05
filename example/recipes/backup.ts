import { renameSync, rmSync } from 'node:fs'
import { newLifespan } from 'sequitur'

/** Copies the SQLite file of a running app: what was committed when the copy began, and nothing else. Other processes read and write meanwhile. */
export async function backUp(url: string, file: string): Promise<void> {
  const database = newLifespan(url)
  const unfinished = `${file}.part`
  rmSync(unfinished, { force: true })
  await database.start()
  try {
    await database.sequelize.query('VACUUM INTO $1', { bind: [unfinished] })
  } finally {
    await database.stop()
  }
  renameSync(unfinished, file) // a copy that was cut off never has the name of a whole one
}
