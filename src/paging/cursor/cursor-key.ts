import { randomBytes } from 'node:crypto'
import { HOW_TO_SET_SECRET } from '../../core/cursor-secret.js'
import { variable } from '../../core/environment.js'
import { provideItself } from '../../di/provider.js'
import { appLog, type Log } from '../../http/server/logger.js'
import { cursorSecret } from '../../http/app-options.js'

/** Signs the cursors of all apps in this process that have no secret. */
const PROCESS_KEY = randomBytes(32).toString('base64')

/** The key that signs the cursors of an app. Created at the startup of an app with a cursor paginator. */
export class CursorKey {
  readonly value: string

  constructor(given: string | undefined, log: Log) {
    const secret = given ?? (variable('toolkit_cursor_secret') || undefined) // empty: not set
    if (secret === undefined)
      log.warn(
        'No secret for cursors is set: they are signed with a random key. ' +
          `Other processes reject them, and after a restart clients must begin their lists again. ${HOW_TO_SET_SECRET}`,
      )
    this.value = secret ?? PROCESS_KEY
  }
}

provideItself(CursorKey, {
  kind: 'factory',
  lifetime: 'application',
  create: (given: string | undefined, log: Log) => new CursorKey(given, log),
  dependencies: [
    { kind: 'token', token: cursorSecret },
    { kind: 'token', token: appLog },
  ],
})
