const BUN = `Bun reads the options of decorators from the tsconfig.json of the program, but not through "extends" with the name of a package. Write
  "extends": "./node_modules/sequitur/tsconfig.base.json"`

const VITEST = `Vitest compiles with Vite. Write in vitest.config.ts
  import { sequitur } from 'sequitur/vite'
  export default defineConfig({ plugins: [sequitur()] })`

const JEST = `Jest compiles with what its "transform" names: ts-jest emits the types, @swc/jest with
  jsc: { transform: { legacyDecorator: true, decoratorMetadata: true } }`

/** Advice: what to write so that the tool that runs this process emits the types of parameters; undefined for Node without such a tool. */
export function howToEmitTypes(
  env = process.env,
  versions: Readonly<Record<string, string | undefined>> = process.versions,
) {
  if (versions['bun'] !== undefined) return BUN
  if (env['VITEST'] !== undefined) return VITEST
  if (env['JEST_WORKER_ID'] !== undefined) return JEST
  return undefined
}
