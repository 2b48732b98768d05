/** Requests of the page to the API go through the server of the page: both have one origin, and cookies work. */
export default { server: { proxy: { '/tasks': process.env['API_URL'] ?? 'http://127.0.0.1:8000' } } }
