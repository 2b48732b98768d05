import { sequitur } from 'sequitur/vite'

export default { plugins: [sequitur()], test: { globals: true } }
