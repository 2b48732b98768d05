import { randomBytes } from 'node:crypto'
import { variable } from '../../db/config/environment.js'
import { BootError } from '../../core/boot-error.js'
import { provideItself } from '../../di/provider.js'
import { appLog, type Log } from '../../http/server/logger.js'
import { cursorSecret } from '../../http/app-options.js'

/** Characters. */
const MIN_SECRET_LENGTH = 16

const HOW_TO_SET =
  'Set createApp({ cursorSecret }) or the environment variable toolkit_cursor_secret, ' +
  'the same in all processes, to the output of `openssl rand -base64 32`.'

/** Signs the cursors of all apps in this process that have no secret. */
const PROCESS_KEY = randomBytes(32).toString('base64')

/** The key that signs the cursors of an app. Created at the startup of an app with a cursor paginator. */
export class CursorKey {
  readonly value: string

  constructor(given: string | undefined, log: Log) {
    const secret = given ?? variable('toolkit_cursor_secret')
    if (secret === undefined)
      log.warn(
        'No secret for cursors is set: they are signed with a random key. ' +
          `Other processes reject them, and after a restart clients must begin their lists again. ${HOW_TO_SET}`,
      )
    else refuseShort(secret, given === undefined ? 'toolkit_cursor_secret' : 'createApp(): cursorSecret')
    this.value = secret ?? PROCESS_KEY
  }
}

// A client can test guesses of the secret against any cursor, and then sign its own cursors.
function refuseShort({ length }: string, where: string): void {
  if (length < MIN_SECRET_LENGTH)
    throw new BootError(
      `${where} has ${length} characters, which can be guessed: at least ${MIN_SECRET_LENGTH} are required. ${HOW_TO_SET}`,
    )
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
