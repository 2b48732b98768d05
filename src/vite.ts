import { lowerDecorated } from './register/lower-decorated.js'

/** The members of a plugin that Vite and Vitest use; assignable to the type of any of their versions. */
export interface VitePlugin {
  readonly name: 'sequitur'
  /** It compiles before Vite does, which removes the types. */
  readonly enforce: 'pre'
  /** Lets esbuild, the compiler of Vite before version 8, keep the names of classes. They are in messages and in the OpenAPI document. */
  config(this: unknown): { esbuild?: { keepNames: boolean } }
  /** Compiles a TypeScript file that has decorators. Undefined for any other file, which Vite compiles. */
  transform(source: string, id: string): { code: string; map: string } | undefined
}

/**
 * A plugin for Vite and Vitest that emits the types of parameters and fields, as `--import sequitur/register` does for Node.
 *
 * @example
 * // vitest.config.ts
 * import { sequitur } from 'sequitur/vite'
 * import { defineConfig } from 'vitest/config'
 *
 * export default defineConfig({ plugins: [sequitur()] })
 */
export function sequitur(): VitePlugin {
  return {
    name: 'sequitur',
    enforce: 'pre',
    config() {
      return hasEsbuild(this) ? { esbuild: { keepNames: true } } : {}
    },
    transform: (source, id) => lowerDecorated(withoutVersion(id), source),
  }
}

/** `/app/hero.ts?t=1` and `?v=1` are the file itself; `?raw` and other queries are not. */
function withoutVersion(id: string): string {
  return id.replace(/\?[tv]=\w+$/, '')
}

/** Vite 8 and newer compile with Rolldown, and give its version to plugins. */
function hasEsbuild(context: unknown): boolean {
  const { meta } = Object(context) as { meta?: { rolldownVersion?: string } }
  return meta?.rolldownVersion === undefined
}
