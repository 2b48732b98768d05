import { token } from '../di/token.js'

/** What `createApp({ cursorSecret })` says. */
export const cursorSecret = token<string | undefined>('cursorSecret')
