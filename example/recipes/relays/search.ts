import { On } from 'sequitur/feeds'
import { HeroSaved } from './hero-saved.js'

export class Search {
  @On(HeroSaved, { queue: 'search' })
  async index({ id, name }: HeroSaved, signal: AbortSignal) {
    const url = `${process.env['SEARCH_URL'] ?? 'http://127.0.0.1:7700'}/heroes/${id}`
    const response = await fetch(url, { method: 'PUT', body: JSON.stringify({ name }), signal })
    if (!response.ok) throw new Error(`The search engine answers ${response.status}`)
  }
}
