import { variable } from '../db/environment.js'
import { BootError } from '../di/errors.js'
import { provideItself } from '../di/provider.js'
import { cursorSecret } from '../http/secret.js'

/** Known to everybody: with it a cursor's digest finds accidents, not forgeries. */
const PUBLIC_KEY = 'sequitur'

/** The key that signs the cursors of an app. */
export class CursorKey {
  readonly value: string

  constructor(given: string | undefined) {
    const secret = given ?? variable('toolkit_cursor_secret')
    if (secret === '')
      throw new BootError(
        'The secret of cursors is empty. Give createApp({ cursorSecret }) or toolkit_cursor_secret a text that nobody can guess, or leave both away.',
      )
    this.value = secret ?? PUBLIC_KEY
  }
}

provideItself(CursorKey, {
  kind: 'factory',
  lifetime: 'application',
  create: (given: string | undefined) => new CursorKey(given),
  dependencies: [{ kind: 'token', token: cursorSecret }],
})
