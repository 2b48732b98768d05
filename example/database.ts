import { newLifespan } from 'sequitur'
import { Hero } from './hero.js'

/** Where no `toolkit_url` names another database: a file beside the program. */
export const defaultUrl = 'sqlite+sqlite3:///./heroes.sqlite'

export const database = newLifespan(undefined, { defaultUrl, models: [Hero] })
