import './register/index.js'
