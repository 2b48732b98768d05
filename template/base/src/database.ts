import './env.js'
import { newLifespan } from 'sequitur'
import { Task } from './task.js'

/** Used unless `toolkit_url` names another database. */
export const defaultUrl = 'sqlite+sqlite3:///./my-api.sqlite'

export const models = [Task]

export const database = newLifespan(undefined, { defaultUrl, models })
