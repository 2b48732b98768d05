import { ownManifest, type Strings } from '../own-package.js'
import type { Choices } from './choices.js'

const HOOK = '--import sequitur/register'

/** The npm scripts of a new project. */
export const SCRIPTS = {
  dev: `tsx watch ${HOOK} src/main.ts`,
  build: 'tsc -p tsconfig.build.json',
  start: 'node --enable-source-maps dist/main.js',
  test: `tsc && node --import tsx ${HOOK} --test test/*.test.ts`,
  migrate: `tsx ${HOOK} src/migrate.ts`,
}

const CLIENT_SCRIPTS = {
  client: 'sequitur client src/app.ts --out client/api.ts',
  page: 'vite client',
}

/** The packages of a new project other than `sequitur`. */
const PEERS = ['sequelize', 'sequelize-typescript']
const FOR_CLIENTS = ['@redocly/cli', 'vite']
const FOR_DEVELOPMENT = ['@types/node', 'tsx', 'typescript']

/** The names that a project cannot have: npm installs no package into one of the same name. */
export const DEPENDENCIES: readonly string[] = ['sequitur', ...PEERS, ...FOR_DEVELOPMENT, 'mysql2', ...FOR_CLIENTS]

/** The package.json of a new project. Its dependencies have the versions with which this package is tested. */
export function projectManifest(project: string, { database, client }: Choices): object {
  const { name, driver } = database
  const { version, engines, peerDependencies, devDependencies } = ownManifest()
  const isSqlite = name === 'sqlite'
  return {
    name: project,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines,
    scripts: client ? { ...SCRIPTS, ...CLIENT_SCRIPTS } : SCRIPTS,
    dependencies: {
      ...pick(peerDependencies, driver === undefined ? PEERS : [driver, ...PEERS]),
      sequitur: `^${version}`,
    },
    devDependencies: pick(devDependencies, client ? [...FOR_CLIENTS, ...FOR_DEVELOPMENT] : FOR_DEVELOPMENT),
    // npm and yarn run the install scripts of these packages only; for pnpm see pnpm-workspace.yaml.
    allowScripts: { sqlite3: isSqlite, esbuild: false },
    dependenciesMeta: { sqlite3: { built: isSqlite } },
  }
}

function pick(versions: Strings, names: readonly string[]): Strings {
  return Object.fromEntries(names.map((name) => [name, versions[name] ?? '*']))
}
