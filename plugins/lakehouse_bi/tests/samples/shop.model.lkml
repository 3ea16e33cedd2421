connection: "warehouse"

view: orders {
  sql_table_name: `lake.shop.orders` ;;
  label: "Sales orders"
  dimension: id { primary_key: yes type: number sql: ${TABLE}.id ;; }
  dimension: billing_address_id { type: number sql: ${TABLE}.billing_address_id ;; hidden: yes }
  dimension: net { type: number sql: ${TABLE}.gross / 1.2 ;; description: "Amount without tax." }
  dimension_group: created { type: time timeframes: [date, month] sql: ${TABLE}.created_at ;; }
  measure: count { type: count drill_fields: [id] }
  measure: paid_net {
    type: sum
    sql: ${net} ;;
    filters: [status: "paid", region: "EU"]
    description: "Net amount of paid orders."
  }
}

view: addresses {
  derived_table: { sql: select * from lake.shop.addresses ;; }
  dimension: id { primary_key: yes }
}

view: +orders {
  dimension: channel { type: string }
}

explore: orders {
  label: "Orders and addresses"
  sql_always_where: ${orders.deleted} = false ;;
  join: billing {
    from: addresses
    relationship: many_to_one
    sql_on: ${orders.billing_address_id} = ${billing.id} ;;
  }
  join: shipping {
    from: addresses
    relationship: many_to_one
    sql_on: ${orders.shipping_address_id} = ${shipping.id} AND ${orders.country} = ${shipping.country} ;;
  }
}
