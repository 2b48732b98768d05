/*
 * The tables of programs and sample databases that many people know, written from their public descriptions: a line for each table, with its columns.
 * `name` is a text of 255 characters, `name:40` one of 40; the other types are named. `!` is NOT NULL, `*` the primary key or a part of it, `^` unique, `+` an
 * index, `>table` a foreign key, `=value` a default, `(a|b)` an enum. Without a `*`, a table has a key `id` that the database counts.
 */
export const KNOWN_SCHEMAS: Readonly<Record<string, string>> = {
  chinook: `
    artist: name:120
    album: title:160! artist_id>artist!
    employee: last_name:20! first_name:20! title:30 reports_to>employee birth_date@date address:70 phone:24 email:60
    customer: first_name:40! last_name:20! company:80 country:40 email:60! support_rep_id>employee
    genre: name:120
    media_type: name:120
    track: name:200! album_id>album media_type_id>media_type! genre_id>genre composer:220 milliseconds@int! bytes@int unit_price@decimal!
    invoice: customer_id>customer! invoice_date@date! billing_address:70 total@decimal!
    invoice_line: invoice_id>invoice! track_id>track! unit_price@decimal! quantity@int!
    playlist: name:120
    playlist_track: playlist_id>playlist* track_id>track*`,
  northwind: `
    categories: category_name:15!+ description@text picture@blob
    suppliers: company_name:40!+ contact_name:30 postal_code:10+ home_page@text
    products: product_name:40!+ supplier_id>suppliers category_id>categories quantity_per_unit:20 unit_price@decimal=0 units_in_stock@small=0 discontinued@bool!=false
    customers: customer_id:5* company_name:40!+ city:15+ region:15+
    employees: last_name:20!+ first_name:10! birth_date@day hire_date@day photo@blob notes@text reports_to>employees
    shippers: company_name:40! phone:24
    orders: customer_id>customers employee_id>employees order_date@date+ ship_via>shippers freight@decimal=0 ship_name:40
    order_details: order_id>orders* product_id>products* unit_price@decimal!=0 quantity@small!=1 discount@real!=0
    region: region_description:50!
    territories: territory_id:20* territory_description:50! region_id>region!
    employee_territories: employee_id>employees* territory_id>territories*`,
  sakila: `
    actor: first_name:45! last_name:45!+ last_update@date!=now
    country: country:50! last_update@date!=now
    city: city:50! country_id>country!
    address: address:50! address2:50 district:20! city_id>city! postal_code:10 phone:20!
    language: name:20! last_update@date!=now
    category: name:25!
    film: title:128!+ description@text release_year@small language_id>language! rental_duration@small!=3 rental_rate@decimal!=4.99 length@small rating(G|PG|PG-13|R|NC-17)=G
    film_actor: actor_id>actor* film_id>film* last_update@date!=now
    film_category: film_id>film* category_id>category*
    store: address_id>address!
    staff: first_name:45! address_id>address! store_id>store! email:50 active@bool!=true username:16! picture@blob
    customer: store_id>store! first_name:45! last_name:45!+ email:50 address_id>address! active@bool!=true
    inventory: film_id>film! store_id>store!
    rental: rental_date@date! inventory_id>inventory! customer_id>customer! return_date@date staff_id>staff!
    payment: customer_id>customer! staff_id>staff! rental_id>rental amount@decimal! payment_date@date!`,
  employees: `
    departments: dept_no:4* dept_name:40!^
    employees: emp_no@int* birth_date@day! first_name:14! last_name:16! gender(M|F)! hire_date@day!
    dept_emp: emp_no>employees* dept_no>departments* from_date@day! to_date@day!
    titles: emp_no>employees* title:50* from_date@day* to_date@day
    salaries: emp_no>employees* salary@int! from_date@day* to_date@day!`,
  world: `
    country: code:3* name:52!= continent(Asia|Europe|North America|Africa|Oceania|Antarctica|South America)!=Asia region:26! population@int!=0 gnp@decimal
    city: name:35! country_code>country! district:20! population@int!=0
    country_language: country_code>country* language:30* is_official@bool!=false percentage@real!=0`,
  classicmodels: `
    productlines: product_line:50* text_description@text image@blob
    products: product_code:15* product_name:70! product_line>productlines! quantity_in_stock@small! buy_price@decimal!
    offices: office_code:10* city:50! phone:50!
    employees: last_name:50! extension:10! office_code>offices! reports_to>employees
    customers: customer_name:50! credit_limit@decimal sales_rep>employees
    payments: customer_id>customers* check_number:50* payment_date@day! amount@decimal!
    orders: order_date@day! status:15! comments@text customer_id>customers!
    orderdetails: order_id>orders* product_code>products* quantity_ordered@int! order_line_number@small!`,
  hr: `
    regions: region_name:25
    countries: country_id:2* country_name:40 region_id>regions
    locations: street_address:40 city:30!+ state_province:25+ country_id>countries
    departments: department_name:30! location_id>locations
    jobs: job_id:10* job_title:35! min_salary@int max_salary@int
    employees: first_name:20 last_name:25! email:25!^ hire_date@day! job_id>jobs! salary@decimal manager_id>employees department_id>departments
    job_history: employee_id>employees* start_date@day* end_date@day! job_id>jobs!`,
  tpch: `
    region: r_name:25! r_comment:152
    nation: n_name:25! r_id>region!
    part: p_name:55! p_mfgr:25! p_size@int! p_retailprice@decimal!
    supplier: s_name:25! n_id>nation! s_acctbal@decimal!
    partsupp: p_id>part* s_id>supplier* ps_availqty@int! ps_supplycost@decimal!
    customer: c_name:25! n_id>nation! c_mktsegment:10!
    orders: c_id>customer! o_orderstatus:1! o_totalprice@decimal! o_orderdate@day!+
    lineitem: o_id>orders* l_linenumber@int* p_id>part! l_quantity@decimal! l_shipdate@day!+ l_comment:44!`,
  tpcb: `
    branches: balance@int filler:88
    tellers: branch_id>branches balance@int
    accounts: branch_id>branches balance@int
    history: teller_id>tellers account_id>accounts delta@int mtime@date filler:22`,
  wordpress: `
    users: user_login:60!+ user_pass:255! user_nicename:50!+ user_email:100!+ user_registered@date! user_status@int!=0
    usermeta: user_id>users! meta_key:255+ meta_value@text
    posts: post_author>users! post_date@date! post_content@text! post_title@text! post_status:20!=publish post_name:200!+ post_parent>posts menu_order@int!=0
    postmeta: post_id>posts! meta_key:255+ meta_value@text
    comments: post_id>posts! comment_author@text! comment_approved:20!=1 comment_parent>comments user_id>users
    terms: name:200!+ slug:200!+
    term_taxonomy: term_id>terms! taxonomy:32!+ description@text! count@big!=0
    term_relationships: object_id>posts* taxonomy_id>term_taxonomy* term_order@int!=0
    options: option_name:191!^ option_value@text! autoload:20!=yes`,
  django: `
    content_type: app_label:100! model:100!
    auth_permission: name:255! content_type_id>content_type! codename:100!
    auth_group: name:150!^
    auth_user: password:128! last_login@date is_superuser@bool! username:150!^ email:254! is_active@bool! date_joined@date!
    auth_user_groups: user_id>auth_user! group_id>auth_group!
    admin_log: action_time@date! object_id@text object_repr:200! action_flag@small! content_type_id>content_type user_id>auth_user!
    session: session_key:40* session_data@text! expire_date@date!+`,
  stackoverflow: `
    users: reputation@int! display_name:40! location:100 about_me@text views@int!=0 account_id@int
    posts: post_type@small! parent_id>posts score@int! view_count@int body@text! owner_id>users tags:250 closed@date
    votes: post_id>posts! vote_type@small! user_id>users bounty@int creation_date@date!
    comments: post_id>posts! score@int! text@text! user_id>users
    badges: user_id>users! name:50! tag_based@bool!
    post_links: post_id>posts! related_id>posts! link_type@small!
    tags: tag_name:35!^ count@int!`,
  mastodon: `
    accounts: username:255!+ domain:255 private_key@text note@text! locked@bool!=false discoverable@bool fields@json
    users: email:255!^ account_id>accounts! confirmed_at@date otp_required@bool!=false
    statuses: account_id>accounts! text@text! in_reply_to_id>statuses reblog_of_id>statuses visibility@int!=0 sensitive@bool!=false
    follows: account_id>accounts! target_account_id>accounts! show_reblogs@bool!=true
    favourites: account_id>accounts! status_id>statuses!
    media_attachments: status_id>statuses account_id>accounts file_meta@json description@text
    tags: name:255!^
    statuses_tags: status_id>statuses* tag_id>tags*`,
  gitlab: `
    namespaces: name:255!+ path:255!^ parent_id>namespaces visibility@small!=20
    users: email:255!^ admin@bool!=false projects_limit@int! state:50!=active namespace_id>namespaces
    projects: name:255+ path:255+ namespace_id>namespaces! creator_id>users star_count@int!=0 description@text archived@bool!=false
    issues: title:255 author_id>users project_id>projects! iid@int+ weight@small due_date@day+ confidential@bool!=false
    labels: title:255+ color:20 project_id>projects
    label_links: label_id>labels! issue_id>issues!
    merge_requests: source_branch:255! target_branch:255! source_project_id>projects target_project_id>projects! merge_status:255!=unchecked
    notes: note@text noteable:255 author_id>users project_id>projects system@bool!=false`,
  magento: `
    store: code:32^ name:255! sort_order@small!=0
    customer: email:255+ group_id@small!=0 store_id>store created_at@date!=now
    product: sku:64^ type:32!=simple has_options@small!=0 price@decimal
    category: parent_id>category path:255! position@int!=0 children_count@int!=0
    category_product: category_id>category* product_id>product* position@int!=0
    sales_order: state:32+ status:32+ store_id>store customer_id>customer grand_total@decimal coupon_code:255
    sales_order_item: order_id>sales_order! product_id>product sku:255 qty_ordered@decimal=0 weight@decimal=0`,
  moodle: `
    course: category@big!=0 fullname:254! shortname:255!+ summary@text format:21!=topics visible@bool!=true
    user: auth:20!=manual username:100!^ firstname:100! suspended@bool!=false
    enrol: course_id>course! status@big!=0 cost:20 password:50
    user_enrolments: enrol_id>enrol! user_id>user! timestart@big!=0
    assign: course_id>course! name:255! duedate@big!=0 grade@big!=0
    assign_submission: assignment_id>assign! user_id>user! status:10 attemptnumber@big!=0`,
  adventureworks: `
    person: person_type:2! title:8 first_name:50! last_name:50!+ email_promotion@int!=0 rowguid@uuid! modified@date!=now
    address: line1:60! city:30! postal_code:15!+ location@json
    person_address: person_id>person* address_id>address* type:20*
    product: name:50!^ number:25!^ color:15 list_price@decimal! weight@decimal sell_start@date!
    sales_order: order_date@date!=now status@small!=1 online@bool!=true customer_id>person! ship_to>address total@decimal!=0
    sales_order_detail: order_id>sales_order* line@int* product_id>product! qty@small! discount@double!=0`,
  imdb: `
    title: tconst:12* title_type:20!+ primary_title@text! is_adult@bool! start_year@small runtime@int
    name: nconst:12* primary_name:255!+ birth_year@small death_year@small
    principal: title_id>title* ordering@small* name_id>name! category:40! job@text
    rating: title_id>title* average@real! votes@int!
    episode: title_id>title* parent_id>title! season@small episode@int`,
}
