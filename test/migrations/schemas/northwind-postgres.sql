-- The tables of Northwind, a wholesaler for food, as on PostgreSQL.
CREATE TABLE categories (category_id smallint NOT NULL PRIMARY KEY, category_name character varying(15) NOT NULL, description text, picture bytea);
CREATE TABLE customer_demographics (customer_type_id bpchar NOT NULL PRIMARY KEY, customer_desc text);
CREATE TABLE customers (
  customer_id bpchar NOT NULL PRIMARY KEY,
  company_name character varying(40) NOT NULL,
  contact_name character varying(30),
  contact_title character varying(30),
  address character varying(60),
  city character varying(15),
  phone character varying(24)
);
CREATE TABLE customer_customer_demo (
  customer_id bpchar NOT NULL REFERENCES customers,
  customer_type_id bpchar NOT NULL REFERENCES customer_demographics,
  PRIMARY KEY (customer_id, customer_type_id)
);
CREATE TABLE employees (
  employee_id smallint NOT NULL PRIMARY KEY,
  last_name character varying(20) NOT NULL,
  first_name character varying(10) NOT NULL,
  birth_date date,
  photo bytea,
  notes text,
  reports_to smallint REFERENCES employees
);
CREATE TABLE suppliers (
  supplier_id smallint NOT NULL PRIMARY KEY,
  company_name character varying(40) NOT NULL,
  homepage text
);
CREATE TABLE products (
  product_id smallint NOT NULL PRIMARY KEY,
  product_name character varying(40) NOT NULL,
  supplier_id smallint REFERENCES suppliers,
  category_id smallint REFERENCES categories,
  quantity_per_unit character varying(20),
  unit_price real,
  units_in_stock smallint,
  discontinued integer NOT NULL
);
CREATE TABLE region (region_id smallint NOT NULL PRIMARY KEY, region_description character varying(60) NOT NULL);
CREATE TABLE shippers (shipper_id smallint NOT NULL PRIMARY KEY, company_name character varying(40) NOT NULL, phone character varying(24));
CREATE TABLE orders (
  order_id smallint NOT NULL PRIMARY KEY,
  customer_id bpchar REFERENCES customers,
  employee_id smallint REFERENCES employees,
  order_date date,
  required_date date,
  shipped_date date,
  ship_via smallint REFERENCES shippers,
  freight real,
  ship_name character varying(40)
);
CREATE TABLE territories (
  territory_id character varying(20) NOT NULL PRIMARY KEY,
  territory_description character varying(60) NOT NULL,
  region_id smallint NOT NULL REFERENCES region
);
CREATE TABLE employee_territories (
  employee_id smallint NOT NULL REFERENCES employees,
  territory_id character varying(20) NOT NULL REFERENCES territories,
  PRIMARY KEY (employee_id, territory_id)
);
CREATE TABLE order_details (
  order_id smallint NOT NULL REFERENCES orders,
  product_id smallint NOT NULL REFERENCES products,
  unit_price real NOT NULL,
  quantity smallint NOT NULL,
  discount real NOT NULL,
  PRIMARY KEY (order_id, product_id)
);
CREATE TABLE us_states (state_id smallint NOT NULL PRIMARY KEY, state_name character varying(100), state_abbr character varying(2), state_region character varying(50))
