import { BootError } from './boot-error.js'

/** Characters. */
const MIN_SECRET_LENGTH = 16

export const HOW_TO_SET_SECRET =
  'Set createApp({ cursorSecret }) or the environment variable toolkit_cursor_secret, ' +
  'the same in all processes, to the output of `openssl rand -base64 32`.'

/** @throws BootError for a secret of cursors that can be guessed: a client can test guesses against any cursor, and then sign its own. */
export function refuseShortSecret(secret: unknown, where: string): void {
  if (typeof secret !== 'string' || secret.length >= MIN_SECRET_LENGTH) return
  throw new BootError(
    `${where} has ${secret.length} characters, which can be guessed: at least ${MIN_SECRET_LENGTH} are required. ${HOW_TO_SET_SECRET}`,
  )
}
