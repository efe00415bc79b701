"""Topics as Spark tables: sources, sinks, capture and jobs, through PySpark, without a JAR."""
