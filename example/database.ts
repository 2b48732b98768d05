import { newLifespan } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { Hero } from './hero.js'

/** Used unless `toolkit_url` or `DATABASE_URL` names another database. */
export const defaultUrl = 'sqlite+sqlite3:///./heroes.sqlite'

export const database = newLifespan(undefined, { defaultUrl, models: [Hero, FeedEvent] })
