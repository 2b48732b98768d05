export { IfMatch, type IfMatchOptions, newIfMatch } from './conditional/if-match.js'
