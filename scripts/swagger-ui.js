// Copies the three files of Swagger UI that /docs serves into assets/, which is published with the package.
// A copy and not a dependency: swagger-ui-dist brings an install script that reports to a third party.
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const from = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
const to = fileURLToPath(new URL('../assets/swagger-ui/', import.meta.url))

mkdirSync(to, { recursive: true })
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE', 'NOTICE']) {
  cpSync(join(from, file), join(to, file))
}
