import { swc } from './swc.js'

export default {
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testMatch: ['**/src/*.spec.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
}
