import { readFile } from 'node:fs/promises'
import { withSourceMap } from './register/load.js'
import { lowerDecorated } from './register/lower-decorated.js'

interface Loaded {
  contents: string
  loader: 'js'
}

/** The members of a plugin that esbuild uses; assignable to its own type. */
export interface EsbuildPlugin {
  readonly name: 'sequitur'
  /** Adds the plugin to a build. */
  setup(build: {
    initialOptions: { keepNames?: boolean }
    onLoad(options: { filter: RegExp }, load: (file: { path: string }) => Promise<Loaded | undefined>): void
  }): void
}

/**
 * A plugin for esbuild that emits the types of parameters and fields, as `--import sequitur/register` does for Node.
 *
 * Leave `minifyIdentifiers` off: the names of parameters are those of the inputs.
 *
 * @example
 * import { build } from 'esbuild'
 * import { sequitur } from 'sequitur/esbuild'
 *
 * await build({
 *   entryPoints: ['src/app.ts'],
 *   outdir: 'dist',
 *   bundle: true,
 *   platform: 'node',
 *   format: 'esm',
 *   packages: 'external',
 *   plugins: [sequitur()],
 * })
 */
export function sequitur(): EsbuildPlugin {
  return {
    name: 'sequitur',
    setup: (build) => {
      build.initialOptions.keepNames ??= true // the names of classes are in messages and in the OpenAPI document
      build.onLoad({ filter: /\.(?:[cm]?ts|tsx)$/ }, ({ path }) => load(path))
    },
  }
}

async function load(path: string): Promise<Loaded | undefined> {
  const lowered = lowerDecorated(path, await readFile(path, 'utf8'))
  return lowered && { contents: withSourceMap(lowered.code, lowered.map), loader: 'js' }
}
