import { newLifespan } from 'sequitur'
import { Hero } from './hero.js'

/** The database that `toolkit_url` names, or a file beside the program. Missing tables are made, as this is a demo. */
export const database = newLifespan(undefined, {
  defaultUrl: 'sqlite+sqlite3:///./heroes.sqlite',
  models: [Hero],
  sync: true,
})
