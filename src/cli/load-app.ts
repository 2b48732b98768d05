import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AppParts, type Describable, setAppObserver } from '../http/app-observer.js'
import '../register/index.js'
import { CommandError } from './command.js'

/** Where commands look for the app unless a module is named. */
export const DEFAULT_MODULE = 'src/app.ts'

/** An app, with what the command line needs to know of it. */
export interface LoadedApp extends AppParts, Describable {}

/**
 * Imports a module and returns its app: the one on which the module calls listen(), else the one that it exports, else the last one that it creates.
 * The app neither listens nor opens its database.
 *
 * @throws CommandError if there is no such file, or no app in it; what the module throws.
 */
export async function loadApp(module: string): Promise<LoadedApp> {
  if (!existsSync(module)) throw new CommandError(`There is no file ${module}. Name the module that calls createApp().`)
  if (!/\.[cm]?[jt]sx?$/.test(module) || !statSync(module).isFile())
    throw new CommandError(`${module} is not a module. Name the one that calls createApp(): ${DEFAULT_MODULE}`)
  const created = new Map<Describable, AppParts>()
  const listening = new Promise<Describable>((listens) =>
    setAppObserver({ created: (app, parts) => created.set(app, parts), listens }),
  )
  const exported = import(pathToFileURL(resolve(module)).href).then((values: object) =>
    Object.values(values).find(isDescribable),
  )
  const app = (await Promise.race([listening, exported])) ?? [...created.keys()].at(-1)
  const parts = app && created.get(app)
  if (!parts)
    throw new CommandError(
      `${module} creates no app. Name the module that calls createApp() when it is loaded, not in a function, such as src/main.ts.`,
    )
  return { ...parts, openapi: () => app.openapi() }
}

function isDescribable(value: unknown): value is Describable {
  return typeof value === 'object' && value !== null && 'openapi' in value && typeof value.openapi === 'function'
}
