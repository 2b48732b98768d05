import { meant } from '../../core/options.js'
import { CommandError } from '../command.js'

/** A database that a project can be created for. */
export interface DatabaseChoice {
  readonly name: 'sqlite' | 'postgres' | 'mysql'
  /** That of the project while `toolkit_url` names no other. Its password is that of compose.yaml, which listens on loopback. */
  readonly defaultUrl: (project: string) => string
  /** The driver, where this package does not have it. */
  readonly driver?: string
  /** The folders of `template/`, from the common one to the special one. */
  readonly layers: readonly string[]
}

const DATABASES: readonly DatabaseChoice[] = [
  { name: 'sqlite', defaultUrl: (project) => `sqlite+sqlite3:///./${project}.sqlite`, layers: ['sqlite'] },
  {
    name: 'postgres',
    defaultUrl: (project) => `postgres+pg://postgres:postgres@127.0.0.1:5432/${project}`,
    layers: ['server', 'postgres'],
  },
  {
    name: 'mysql',
    defaultUrl: (project) => `mysql+mysql2://root:root@127.0.0.1:3306/${project}`,
    driver: 'mysql2',
    layers: ['server', 'mysql'],
  },
]

/** How clients of a project log in. */
export interface AuthChoice {
  readonly name: 'none' | 'cookie' | 'bearer'
  readonly layers: readonly string[]
}

const AUTHS: readonly AuthChoice[] = [
  { name: 'none', layers: [] },
  { name: 'cookie', layers: ['auth', 'cookie'] },
  { name: 'bearer', layers: ['auth', 'bearer'] },
]

export interface Choices {
  readonly database: DatabaseChoice
  readonly auth: AuthChoice
  /** Whether there are a script that generates a typed client, and a page that uses it. */
  readonly client: boolean
}

/** @throws CommandError for another value of an option. */
export function readChoices(
  { database = 'sqlite', auth = 'none' }: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
): Choices {
  return {
    database: choose('--database', database, DATABASES),
    auth: choose('--auth', auth, AUTHS),
    client: flags.has('client'),
  }
}

function choose<T extends { readonly name: string }>(option: string, value: string, choices: readonly T[]): T {
  const found = choices.find(({ name }) => name === value)
  if (found) return found
  const names = choices.map(({ name }) => name)
  throw new CommandError(`sequitur new: ${option} cannot be '${value}'. ${meant(value, names)}`)
}
