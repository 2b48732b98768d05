import { build } from 'esbuild'
import { sequitur } from 'sequitur/esbuild'

await build({
  entryPoints: ['src/main.ts'],
  outfile: 'out/esbuild.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  plugins: [sequitur()],
})
