import { createRequire } from 'node:module'

/** The part of moment that is used here; its documentation names it. */
interface Moment {
  createFromInputFallback(config: { readonly _i?: unknown; readonly _useUTC?: boolean; _d?: Date }): void
}

const ofSequelize = createRequire(createRequire(import.meta.url).resolve('sequelize'))

/**
 * Sequelize reads strings for DATE and DATEONLY with moment. Moment prints those that are not ISO 8601 to the console, past the logger of the
 * app and with the line breaks of the client, and reads them with `new Date`. Here it only reads them.
 */
export function keepMomentSilent(): void {
  for (const name of ['moment', 'moment-timezone']) {
    const moment: Moment = ofSequelize(name)
    moment.createFromInputFallback = (config) => {
      config._d = new Date(`${String(config._i)}${config._useUTC ? ' UTC' : ''}`)
    }
  }
}
