import { fileURLToPath } from 'node:url'
import { lower } from './lower.js'

/** By its path, which bundlers resolve: they do not all read URLs. With slashes, as Vite writes paths on every system. */
const runtime = fileURLToPath(new URL('./runtime.js', import.meta.url)).replaceAll('\\', '/')

/**
 * Compiles a TypeScript file for a bundler; undefined for every file that has no decorators, which the bundler compiles itself.
 * @param {string} file
 * @param {string} source
 */
export function lowerDecorated(file, source) {
  if (!/\.(?:[cm]?ts|tsx)$/.test(file) || /[\\/]node_modules[\\/]/.test(file) || !source.includes('@')) return undefined
  const { code, map, decorated } = lower(file, source, runtime)
  return decorated ? { code, map } : undefined
}
