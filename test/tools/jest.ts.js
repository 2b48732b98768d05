export default {
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testMatch: ['**/src/*.spec.ts'],
  transform: { '^.+\\.ts$': ['ts-jest', { useESM: true }] },
}
