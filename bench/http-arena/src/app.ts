import { readFileSync } from 'node:fs'
import { type AppOptions, newLifespan, provide } from 'sequitur'
import { dataset, ItemController, JsonController, StaticController, TextController } from './controllers.js'
import { Item, type ItemView } from './item.js'

/** @param processes how many share the connections of the server. */
export function appOptions(env: NodeJS.ProcessEnv, processes: number): AppOptions {
  const { DATABASE_URL, DATABASE_MAX_CONN = '256', DATASET = '/data/dataset.json' } = env
  const items = JSON.parse(readFileSync(DATASET, 'utf8')) as readonly ItemView[]
  const controllers = [TextController, JsonController, StaticController]
  const common: AppOptions = {
    controllers,
    providers: [provide(dataset, { value: items })],
    bodyLimit: 32 * 2 ** 20, // the largest upload has 20 MiB
  }
  if (DATABASE_URL === undefined) return common
  // Some are left for administrators.
  const poolSize = Math.max(1, Math.floor((Number(DATABASE_MAX_CONN) - 16) / processes))
  const lifespan = newLifespan(DATABASE_URL, { models: [Item], poolSize })
  return { ...common, controllers: [...controllers, ItemController], lifespan }
}
