import { newLifespan } from 'sequitur'
import { Payment } from './payment.js'

export const database = newLifespan(undefined, { models: [Payment] })
