import { createRequire } from 'node:module'
import { memo } from './memo.js'

const require = createRequire(import.meta.url)

/**
 * Loads a CommonJS package at the first call: what most programs do not need, or not before their first request, delays no start.
 *
 * @example
 * const ajv = loadLater<typeof import('ajv/dist/2020.js')>('ajv/dist/2020.js')
 */
export function loadLater<T>(name: string): () => T {
  return memo(() => require(name) as T) // require() has no types
}
