import { mkdirSync, writeFileSync } from 'node:fs'
import { transformFileSync } from '@swc/core'
import { swc } from './swc.js'

mkdirSync('out/swc', { recursive: true })
for (const name of ['app', 'main']) writeFileSync(`out/swc/${name}.js`, transformFileSync(`src/${name}.ts`, swc).code)
