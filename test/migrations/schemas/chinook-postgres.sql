-- The tables of Chinook, a shop for music, as on PostgreSQL.
CREATE TABLE artist (artist_id INT NOT NULL GENERATED ALWAYS AS IDENTITY, name VARCHAR(120), CONSTRAINT artist_pkey PRIMARY KEY (artist_id));
CREATE TABLE album (
  album_id INT NOT NULL GENERATED ALWAYS AS IDENTITY,
  title VARCHAR(160) NOT NULL,
  artist_id INT NOT NULL,
  CONSTRAINT album_pkey PRIMARY KEY (album_id),
  FOREIGN KEY (artist_id) REFERENCES artist (artist_id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE employee (
  employee_id INT NOT NULL GENERATED ALWAYS AS IDENTITY,
  last_name VARCHAR(20) NOT NULL,
  first_name VARCHAR(20) NOT NULL,
  title VARCHAR(30),
  reports_to INT,
  birth_date TIMESTAMP,
  hire_date TIMESTAMP,
  email VARCHAR(60),
  CONSTRAINT employee_pkey PRIMARY KEY (employee_id),
  FOREIGN KEY (reports_to) REFERENCES employee (employee_id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE customer (
  customer_id INT NOT NULL GENERATED ALWAYS AS IDENTITY,
  first_name VARCHAR(40) NOT NULL,
  last_name VARCHAR(20) NOT NULL,
  company VARCHAR(80),
  postal_code VARCHAR(10),
  email VARCHAR(60) NOT NULL,
  support_rep_id INT,
  CONSTRAINT customer_pkey PRIMARY KEY (customer_id),
  FOREIGN KEY (support_rep_id) REFERENCES employee (employee_id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE genre (genre_id INT NOT NULL GENERATED ALWAYS AS IDENTITY, name VARCHAR(120), CONSTRAINT genre_pkey PRIMARY KEY (genre_id));
CREATE TABLE media_type (media_type_id INT NOT NULL GENERATED ALWAYS AS IDENTITY, name VARCHAR(120), CONSTRAINT media_type_pkey PRIMARY KEY (media_type_id));
CREATE TABLE track (
  track_id INT NOT NULL GENERATED ALWAYS AS IDENTITY,
  name VARCHAR(200) NOT NULL,
  album_id INT,
  media_type_id INT NOT NULL,
  genre_id INT,
  composer VARCHAR(220),
  milliseconds INT NOT NULL,
  bytes INT,
  unit_price NUMERIC(10,2) NOT NULL,
  CONSTRAINT track_pkey PRIMARY KEY (track_id),
  FOREIGN KEY (album_id) REFERENCES album (album_id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (genre_id) REFERENCES genre (genre_id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (media_type_id) REFERENCES media_type (media_type_id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE invoice (
  invoice_id INT NOT NULL GENERATED ALWAYS AS IDENTITY,
  customer_id INT NOT NULL,
  invoice_date TIMESTAMP NOT NULL,
  billing_city VARCHAR(40),
  total NUMERIC(10,2) NOT NULL,
  CONSTRAINT invoice_pkey PRIMARY KEY (invoice_id),
  FOREIGN KEY (customer_id) REFERENCES customer (customer_id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE invoice_line (
  invoice_line_id INT NOT NULL GENERATED ALWAYS AS IDENTITY,
  invoice_id INT NOT NULL,
  track_id INT NOT NULL,
  unit_price NUMERIC(10,2) NOT NULL,
  quantity INT NOT NULL,
  CONSTRAINT invoice_line_pkey PRIMARY KEY (invoice_line_id),
  FOREIGN KEY (invoice_id) REFERENCES invoice (invoice_id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (track_id) REFERENCES track (track_id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE TABLE playlist (playlist_id INT NOT NULL GENERATED ALWAYS AS IDENTITY, name VARCHAR(120), CONSTRAINT playlist_pkey PRIMARY KEY (playlist_id));
CREATE TABLE playlist_track (
  playlist_id INT NOT NULL,
  track_id INT NOT NULL,
  CONSTRAINT playlist_track_pkey PRIMARY KEY (playlist_id, track_id),
  FOREIGN KEY (playlist_id) REFERENCES playlist (playlist_id) ON DELETE NO ACTION ON UPDATE NO ACTION,
  FOREIGN KEY (track_id) REFERENCES track (track_id) ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE INDEX album_artist_id_idx ON album (artist_id);
CREATE INDEX customer_support_rep_id_idx ON customer (support_rep_id);
CREATE INDEX employee_reports_to_idx ON employee (reports_to);
CREATE INDEX invoice_customer_id_idx ON invoice (customer_id);
CREATE INDEX invoice_line_invoice_id_idx ON invoice_line (invoice_id);
CREATE INDEX invoice_line_track_id_idx ON invoice_line (track_id);
CREATE INDEX playlist_track_track_id_idx ON playlist_track (track_id);
CREATE INDEX track_album_id_idx ON track (album_id);
CREATE INDEX track_genre_id_idx ON track (genre_id);
CREATE INDEX track_media_type_id_idx ON track (media_type_id)
