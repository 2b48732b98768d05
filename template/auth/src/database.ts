import './env.js'
import { newLifespan } from 'sequitur'
import { Login } from './login.js'
import { Person } from './person.js'
import { Task } from './task.js'

/** Used unless `toolkit_url` names another database. */
export const defaultUrl = 'sqlite+sqlite3:///./my-api.sqlite'

export const models = [Task, Person, Login]

export const database = newLifespan(undefined, { defaultUrl, models })
