import { existsSync } from 'node:fs'

// Variables that are set already take precedence over those in the file.
if (existsSync('.env')) process.loadEnvFile('.env')
